// Package datasets keeps episodes in Parquet files that other tools read without it, and in JSON lines.
//
// A dataset is a directory, partitioned Hive-style by family: DIR/variant=urim/NAME-00000.parquet. A row is a
// ply. Columns hold raw integers, never encodings: encodings change, positions do not. docs/schema.md says
// what each column means.
//
// A file appears whole or not at all, its bytes are a function of the episodes and the Meta alone, and
// it carries a checksum of all its bytes: a reader refuses a file that was cut, changed, written by another
// program or in another version, and says why.
package datasets

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"

	"github.com/parquet-go/parquet-go"

	"github.com/mancalagym/mancalagym/env"
	"github.com/mancalagym/mancalagym/env/mancala"
)

// Version is the version of the schema. It changes when a column is added, removed or changes its meaning; a
// reader takes files of its own version only.
const Version = 1

// row is one row of a file. Lists of small numbers are []uint16 here and uint8 in the file: the Parquet library
// takes []uint8 for a byte array and leaves such a list empty.
type row struct {
	Game         uint64    `parquet:"game,delta"`
	Ply          uint32    `parquet:"ply,delta"`
	Spec         string    `parquet:"spec,dict"`
	Seed         uint64    `parquet:"seed,dict"`
	South        string    `parquet:"south,dict"`
	North        string    `parquet:"north,dict"`
	Mover        uint8     `parquet:"mover,dict"`
	PitsSouth    []uint16  `parquet:"pits_south,list" parquet-element:",uint(8),dict"`
	PitsNorth    []uint16  `parquet:"pits_north,list" parquet-element:",uint(8),dict"`
	StoreSouth   uint8     `parquet:"store_south,dict"`
	StoreNorth   uint8     `parquet:"store_north,dict"`
	Quiet        uint32    `parquet:"quiet,dict"`
	HandSeeds    uint8     `parquet:"hand_seeds,dict"`
	HandPit      uint8     `parquet:"hand_pit,dict"`
	HandLaps     uint16    `parquet:"hand_laps,dict"`
	HandFlags    uint8     `parquet:"hand_flags,dict"`
	History      uint8     `parquet:"history,dict"`
	Legal        []uint16  `parquet:"legal,list" parquet-element:",uint(8),dict"`
	Action       uint8     `parquet:"action,dict"`
	Opening      bool      `parquet:"opening"`
	RewardSouth  float32   `parquet:"reward_south,dict"`
	RewardNorth  float32   `parquet:"reward_north,dict"`
	Terminated   bool      `parquet:"terminated"`
	Truncated    bool      `parquet:"truncated"`
	Reason       *string   `parquet:"reason,optional,dict"`
	OutcomeSouth *int8     `parquet:"outcome_south,optional,dict"`
	MarginSouth  *float32  `parquet:"margin_south,optional,dict"`
	PointsSouth  *uint8    `parquet:"points_south,optional,dict"`
	PointsNorth  *uint8    `parquet:"points_north,optional,dict"`
	Plies        uint32    `parquet:"plies,dict"`
	Policy       []float32 `parquet:"policy,list,optional"`
	Visits       []uint32  `parquet:"visits,list,optional"`
	Value        *float32  `parquet:"value,optional"`
}

// The columns by their place in row and in a file.
const (
	colGame = iota
	colPly
	colSpec
	colSeed
	colSouth
	colNorth
	colMover
	colPitsSouth
	colPitsNorth
	colStoreSouth
	colStoreNorth
	colQuiet
	colHandSeeds
	colHandPit
	colHandLaps
	colHandFlags
	colHistory
	colLegal
	colAction
	colOpening
	colRewardSouth
	colRewardNorth
	colTerminated
	colTruncated
	colReason
	colOutcomeSouth
	colMarginSouth
	colPointsSouth
	colPointsNorth
	colPlies
	colPolicy
	colVisits
	colValue
	columns
)

var schema = parquet.NewSchema("ply", parquet.SchemaOf(row{}))

// The keys of a file's metadata.
const (
	keySchema   = "mancalagym.schema"   // Version
	keyVariant  = "mancalagym.variant"  // full spec of all rows
	keyRules    = "mancalagym.rules"    // Info.Version of that variant
	keySouth    = "mancalagym.south"    // Meta.Agents
	keyNorth    = "mancalagym.north"    //
	keySeed     = "mancalagym.seed"     // Meta.Seed
	keyReward   = "mancalagym.reward"   // Meta.Reward
	keyWriter   = "mancalagym.writer"   // Meta.Writer
	keyDigest   = "mancalagym.digest"   // of what the rules cannot tell, see digest
	keyChecksum = "mancalagym.checksum" // of the file's bytes, see seal
)

// Meta is what a file says of all its episodes.
type Meta struct {
	// Name begins the names of a dataset's files: NAME-00000.parquet. "games" if empty; letters, digits, ".", "_" and "-",
	// not first "." or "_". It is not kept in the file.
	Name string
	// Agents are South's and North's in text form, "" where they are unknown or differ between the episodes:
	// the rows have each episode's own.
	Agents [2]string
	// Seed is the seed of the run that made the episodes.
	Seed uint64
	// Reward is the scheme of Ply.Reward.
	Reward env.Scheme
	// Writer names the program that made the episodes; "mancalagym" if empty.
	Writer string
}

// fill puts the defaults in and checks the rest.
func (m *Meta) fill() error {
	if m.Name == "" {
		m.Name = "games"
	}
	if m.Writer == "" {
		m.Writer = "mancalagym"
	}
	other := func(r rune) bool {
		return r != '.' && r != '_' && r != '-' && (r > unicode.MaxASCII || !unicode.IsLetter(r) && !unicode.IsDigit(r))
	}
	if strings.ContainsFunc(m.Name, other) || m.Name[0] == '.' || m.Name[0] == '_' {
		return fmt.Errorf("datasets: name %q: letters, digits, \".\", \"_\" and \"-\" are allowed, not \".\" or \"_\" first", m.Name)
	}
	if _, err := env.ParseScheme(m.Reward.String()); err != nil {
		return fmt.Errorf("datasets: %w", err)
	}
	for _, s := range []string{m.Agents[0], m.Agents[1], m.Writer} {
		if err := printable(s); err != nil {
			return err
		}
	}
	return nil
}

// printable refuses what might be taken for the structure of a file's footer.
func printable(s string) error {
	if strings.ContainsFunc(s, unicode.IsControl) {
		return fmt.Errorf("datasets: text %q: control characters are not allowed", s)
	}
	return nil
}

// pairs is the metadata as a file keeps it.
func (m *Meta) pairs(i mancala.Info) map[string]string {
	return map[string]string{
		keySchema:  strconv.Itoa(Version),
		keyVariant: i.Spec,
		keyRules:   strconv.Itoa(i.Version),
		keySouth:   m.Agents[mancala.South],
		keyNorth:   m.Agents[mancala.North],
		keySeed:    strconv.FormatUint(m.Seed, 10),
		keyReward:  m.Reward.String(),
		keyWriter:  m.Writer,
	}
}
