package train

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/mancalagym/mancalagym/internal/whole"
)

// The files of a run's directory. An iteration is committed by the rename of the manifest: what it does not name is not
// part of the run and is removed when the run goes on.
const (
	fileConfig   = "config.toml"
	fileManifest = "manifest.json"
	fileMetrics  = "metrics.jsonl"
	fileBest     = "best"         // the weights of the best network
	fileRatings  = "ratings.json" // the last rating
	fileReport   = "report.txt"   // the same for people
	dirData      = "datasets"
	dirWeights   = "weights"     // of every iteration
	dirCheck     = "checkpoints" // the learner after the committed iteration
	dirLocal     = "local"       // of the execution, not of the result
	fileElapsed  = "elapsed.json"
	fileLock     = "lock"
)

const manifestVersion = 2

// manifest says what is committed.
type manifest struct {
	Version   int    `json:"version"`
	Spec      string `json:"spec"`
	Rules     int    `json:"rules_version"`
	Kernel    string `json:"kernel"` // the processor and code that computed it: others differ in the last bits
	Iteration int    `json:"iteration"`
	Best      int    `json:"best"` // the iteration of the best network
	Metrics   int64  `json:"metrics_bytes"`
	Config    string `json:"config_sha256"` // of config.toml
	// Files are those that rate.agents names, in its order.
	Files []agentFile `json:"agent_files,omitempty"`
}

// directory is a run's directory, locked.
type directory struct {
	path string
	lock io.Closer
}

func (d *directory) at(name ...string) string {
	return filepath.Join(append([]string{d.path}, name...)...)
}

func numbered(iteration int) string { return fmt.Sprintf("%06d", iteration) }

// iterationOf returns the iteration of a file that the run names by it, and false for any other file.
func iterationOf(name string) (int, bool) {
	name = strings.TrimSuffix(name, ".parquet")
	n, err := strconv.Atoi(name)
	return n, err == nil && numbered(n) == name
}

func (d *directory) weights(iteration int) string    { return d.at(dirWeights, numbered(iteration)) }
func (d *directory) checkpoint(iteration int) string { return d.at(dirCheck, numbered(iteration)) }

// shard is the file of an iteration's games.
func (d *directory) shard(family string, iteration int) string {
	return d.at(dirData, "variant="+family, numbered(iteration)+".parquet")
}

// openDirectory makes the directory or takes the one there, if it is a run's or empty, and locks it.
func openDirectory(path string) (*directory, error) {
	if err := os.MkdirAll(path, 0o777); err != nil {
		return nil, fmt.Errorf("train: directory: %w", err)
	}
	d := &directory{path: path}
	list, err := os.ReadDir(path)
	if err != nil {
		return nil, fmt.Errorf("train: directory: %w", err)
	}
	if _, err := os.Stat(d.at(fileConfig)); errors.Is(err, fs.ErrNotExist) {
		for _, e := range list {
			if e.Name() != dirLocal && !strings.HasPrefix(e.Name(), ".config.toml") {
				return nil, fmt.Errorf("train: directory %s: holds %s but no %s: want a run's directory, an empty or a new one", path, e.Name(), fileConfig)
			}
		}
	}
	if err := os.MkdirAll(d.at(dirLocal), 0o777); err != nil {
		return nil, fmt.Errorf("train: directory: %w", err)
	}
	if d.lock, err = lockFile(d.at(dirLocal, fileLock)); err != nil {
		return nil, fmt.Errorf("train: directory %s: %w", path, err)
	}
	return d, nil
}

func (d *directory) close() { d.lock.Close() }

// readManifest returns nil if nothing has been committed.
func (d *directory) readManifest() (*manifest, error) {
	text, err := os.ReadFile(d.at(fileManifest))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("train: manifest: %w", err)
	}
	m := &manifest{}
	if err := json.Unmarshal(text, m); err != nil {
		return nil, fmt.Errorf("train: %s: not a manifest: %s", d.at(fileManifest), oneLine(err.Error()))
	}
	if m.Version != manifestVersion {
		return nil, fmt.Errorf("train: %s: version %d: this program goes on with runs of version %d only", d.at(fileManifest), m.Version, manifestVersion)
	}
	if m.Iteration < 0 || m.Best < 0 || m.Best > m.Iteration || m.Metrics < 0 {
		return nil, fmt.Errorf("train: %s: iteration %d, best %d, metrics_bytes %d: want 0 or more and best no later than iteration", d.at(fileManifest), m.Iteration, m.Best, m.Metrics)
	}
	return m, nil
}

// fresh returns an error if iterations were committed here whose manifest is gone.
func (d *directory) fresh() error {
	list, err := os.ReadDir(d.at(dirWeights))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("train: directory: %w", err)
	}
	for _, e := range list {
		if n, ok := iterationOf(e.Name()); ok && n > 0 {
			return fmt.Errorf("train: %s: has iterations but no %s: want it back, or another directory", d.path, fileManifest)
		}
	}
	return nil
}

func (d *directory) writeManifest(m *manifest) error {
	text, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return err
	}
	if err := whole.WriteBytes(d.at(fileManifest), append(text, '\n')); err != nil {
		return fmt.Errorf("train: manifest: %w", err)
	}
	return nil
}

// restore removes what a killed run left after its last commit: later files, temporary ones, the end of the log. It
// also does what a run killed right after a commit had still to do.
func (d *directory) restore(m *manifest) error {
	fail := func(err error) error { return fmt.Errorf("train: restoring %s: %w", d.path, err) }
	for _, dir := range []string{dirData, dirWeights, dirCheck, "."} {
		err := filepath.WalkDir(d.at(dir), func(path string, e fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case e.IsDir() && dir == "." && path != d.at("."):
				return fs.SkipDir
			case e.IsDir():
				return nil
			}
			name := e.Name()
			stale := strings.HasPrefix(name, ".") && strings.HasSuffix(name, ".tmp")
			if n, ok := iterationOf(name); ok && dir != "." {
				stale = n > m.Iteration || dir == dirCheck && n != m.Iteration
			}
			if stale {
				return os.Remove(path)
			}
			return nil
		})
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fail(err)
		}
	}
	size := int64(0)
	if info, err := os.Stat(d.at(fileMetrics)); err == nil {
		size = info.Size()
	} else if !errors.Is(err, fs.ErrNotExist) {
		return fail(err)
	}
	switch {
	case size < m.Metrics:
		return fail(fmt.Errorf("%s has %d bytes: the manifest counts %d", fileMetrics, size, m.Metrics))
	case size > m.Metrics:
		if err := os.Truncate(d.at(fileMetrics), m.Metrics); err != nil {
			return fail(err)
		}
	}
	return d.publishBest(m)
}

// publishBest copies the weights of the best network to their fixed place.
func (d *directory) publishBest(m *manifest) error {
	b, err := os.ReadFile(d.weights(m.Best))
	if err != nil {
		return fmt.Errorf("train: best network: %w", err)
	}
	if err := whole.WriteBytes(d.at(fileBest), b); err != nil {
		return fmt.Errorf("train: best network: %w", err)
	}
	return nil
}

// appendMetrics adds a line to the log and returns its new length.
func (d *directory) appendMetrics(line []byte) (int64, error) {
	f, err := os.OpenFile(d.at(fileMetrics), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o666)
	if err != nil {
		return 0, fmt.Errorf("train: metrics: %w", err)
	}
	defer f.Close()
	if _, err := f.Write(line); err != nil {
		return 0, fmt.Errorf("train: metrics: %w", err)
	}
	if err := f.Sync(); err != nil {
		return 0, fmt.Errorf("train: metrics: %w", err)
	}
	info, err := f.Stat()
	if err != nil {
		return 0, fmt.Errorf("train: metrics: %w", err)
	}
	return info.Size(), nil
}

// elapsed is the time that the committed iterations took, over all executions.
type elapsed struct {
	Iteration int     `json:"iteration"`
	Seconds   float64 `json:"seconds"`
}

// readElapsed returns the time of a run that has come to the given iteration, 0 if it is not known: it is not part of the
// result. That of a later iteration is another run's, whose files were removed.
func (d *directory) readElapsed(iteration int) time.Duration {
	var e elapsed
	text, err := os.ReadFile(d.at(dirLocal, fileElapsed))
	if err != nil || json.Unmarshal(text, &e) != nil || e.Iteration > iteration || !(e.Seconds >= 0 && e.Seconds < 1e9) {
		return 0
	}
	return time.Duration(e.Seconds * float64(time.Second))
}

func (d *directory) writeElapsed(iteration int, t time.Duration) error {
	text, err := json.Marshal(elapsed{iteration, t.Seconds()})
	if err != nil {
		return err
	}
	if err := whole.WriteBytes(d.at(dirLocal, fileElapsed), append(text, '\n')); err != nil {
		return fmt.Errorf("train: elapsed time: %w", err)
	}
	return nil
}
