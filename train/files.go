package train

import (
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/mancalagym/mancalagym/agents/catalog"
)

// agentFile is a file that an agent of the rating is made from. Its content is part of what the result depends on, as
// its name in rate.agents is.
type agentFile struct {
	Agent  string `json:"agent"` // as in rate.agents
	Path   string `json:"file"`
	SHA256 string `json:"sha256"` // when the run began
}

// agentFiles returns the files that the agents of the rating name, with the digests of what they hold now.
func (c *RateConfig) agentFiles() ([]agentFile, error) {
	var list []agentFile
	for _, text := range c.Agents {
		for _, path := range named(text) {
			sum, err := digest(path)
			if err != nil {
				return nil, fmt.Errorf("train: rate.agents: agent %q: %w", text, err)
			}
			list = append(list, agentFile{text, path, sum})
		}
	}
	return list, nil
}

// unchanged returns an error that names the first file that is gone or holds something else than when the run began.
func unchanged(list []agentFile) error {
	for _, f := range list {
		switch now, err := digest(f.Path); {
		case err != nil:
			return fmt.Errorf("train: rate.agents: agent %q: %w: want the file the run began with, of SHA-256 %.12s…", f.Agent, err, f.SHA256)
		case now != f.SHA256:
			return fmt.Errorf("train: rate.agents: agent %q: %s has changed: its SHA-256 is %.12s…: want the file the run began with, of %.12s…", f.Agent, f.Path, now, f.SHA256)
		}
	}
	return nil
}

// named returns the files that the text of an agent names: the values of its keys without a default.
func named(text string) (paths []string) {
	name, list, _ := strings.Cut(text, ":")
	kinds := catalog.Kinds()
	i := slices.IndexFunc(kinds, func(k catalog.Kind) bool { return k.Name == name })
	if i < 0 {
		return nil
	}
	for _, item := range strings.Split(list, ",") {
		name, path, _ := strings.Cut(item, "=")
		if slices.ContainsFunc(kinds[i].Keys, func(k catalog.Key) bool { return k.Name == name && k.Default == "" }) {
			paths = append(paths, path)
		}
	}
	return paths
}

// digest returns the SHA-256 of a file, in hexadecimal digits.
func digest(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, f); err != nil {
		return "", err
	}
	return fmt.Sprintf("%x", sum.Sum(nil)), nil
}
