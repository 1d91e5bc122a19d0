package imports

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/mancalagym/mancalagym/"

type row struct {
	pkg, why string
	may      []string
}

// table says which of our packages each package may import, and why no others. Tests may import more.
var table = []row{
	{"env/mancala", "the rules stand alone: standard library only", nil},
	{"env/encode", "an observation is a function of a position", []string{"env/mancala"}},
	{"env", "episodes know rules and encoders; agents and files come in through Opponent and Sink", []string{"env/mancala", "env/encode"}},
	{"env/envtest", "the kit tests what env offers", []string{"env", "env/mancala", "env/encode"}},
	{"agents", "agents see rules, never an environment", []string{"env/mancala"}},
	{"agents/mcts", "search meets networks and tables only through agents.Evaluator and agents.Prober", []string{"agents", "env/mancala", "env/encode"}},
	{"agents/minimax", "search meets tables only through agents.Prober", []string{"agents", "env/mancala"}},
	{"agents/neural", "the playing network meets search only through agents.Evaluator", []string{"agents", "env/mancala", "env/encode", "internal/kernel", "internal/whole"}},
	{"agents/tablebase", "tables meet search only through agents.Prober and agents.Agent", []string{"agents", "env/mancala", "internal/whole"}},
	{"agents/agenttest", "the kit tests what agents offer", []string{"agents", "env/mancala"}},
	{"agents/catalog", "the one place that knows all kinds of agents", []string{"agents", "agents/mcts", "agents/minimax", "agents/neural", "agents/tablebase", "env/mancala", "env/encode"}},
	{"agents/arena", "the arena takes agents by factory and gives games to a sink", []string{"agents", "env", "env/mancala"}},
	{"datasets", "files hold positions, not agents", []string{"env", "env/mancala", "env/encode", "internal/whole"}},
	{"train/learner", "learning knows the network, not the games", []string{"agents/neural", "env/encode", "env/mancala", "datasets", "internal/kernel"}},
	{"internal/kernel", "the inner loops know numbers only", nil},
}

// only says who alone may import a library.
var only = []struct{ prefix, by, why string }{
	{"gorgonia.org/", "train/learner", "playing needs no gradients, and the graph library stays replaceable"},
	{"github.com/parquet-go/", "datasets", "the file format is known in one place"},
	{"github.com/edsrzf/", "agents/tablebase", "files are mapped in one place"},
	{"github.com/schollz/", "internal/progress", "progress looks alike everywhere"},
	{"github.com/spf13/cobra", "cmd/mancala/cli", "the library is usable without the program"},
}

func TestImportTable(t *testing.T) {
	out, err := exec.Command("go", "list", "-f", `{{.ImportPath}} {{join .Imports " "}}`, module+"...").CombinedOutput()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, out)
	}
	seen := 0
	for _, line := range strings.Split(strings.TrimSpace(string(out)), "\n") {
		fields := strings.Fields(line)
		pkg := strings.TrimPrefix(fields[0], module)
		for _, path := range fields[1:] {
			for _, o := range only {
				if strings.HasPrefix(path, o.prefix) && pkg != o.by {
					t.Errorf("%s imports %s: only %s may: %s", pkg, path, o.by, o.why)
				}
			}
			ours, isOurs := strings.CutPrefix(path, module)
			if strings.HasPrefix(ours, "cmd/") && !strings.HasPrefix(pkg, "cmd/") {
				t.Errorf("%s imports %s: the program is the last to know", pkg, ours)
			}
			for _, r := range table {
				foreign := !isOurs && strings.Contains(strings.Split(path, "/")[0], ".")
				if r.pkg == pkg && (isOurs && !slices.Contains(r.may, ours) || foreign && pkg == "env/mancala") {
					t.Errorf("%s imports %s: %s", pkg, path, r.why)
				}
			}
		}
		listed := slices.ContainsFunc(table, func(r row) bool { return r.pkg == pkg })
		library := slices.Contains([]string{"env", "agents", "datasets", "train"}, strings.Split(pkg, "/")[0])
		switch {
		case listed:
			seen++
		case library && pkg != "train":
			t.Errorf("%s is not in the table: say what it may import, and why no more", pkg)
		}
	}
	if seen != len(table) {
		t.Errorf("%d packages of the table are there, want %d", seen, len(table))
	}
}
