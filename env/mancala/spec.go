package mancala

import (
	"fmt"
	"strconv"
	"strings"
)

// Parse returns the rules of a variant spec: a name, or name:option=value,option=value. The error of an
// unknown name, option or value says what is allowed.
func Parse(spec string) (Rules, error) {
	name, list, listed := strings.Cut(spec, ":")
	for _, f := range families {
		if f.name != name {
			continue
		}
		o, err := f.parse(list, listed)
		if err != nil {
			return nil, err
		}
		return f.rules(f, o), nil
	}
	return nil, fmt.Errorf("mancala: variant %q: want one of %s", name, strings.Join(Variants(), ", "))
}

// Variants returns the names of the families, which are the specs of their default rules.
func Variants() []string {
	names := make([]string, len(families))
	for i, f := range families {
		names[i] = f.name
	}
	return names
}

// Option describes one option of a family, for people.
type Option struct {
	Name    string
	Allowed string // for example "skip, illegal, off" or "1–60000"
	Default string
}

// Options returns the options of a family in the order of canonical specs, nil for an unknown name.
func Options(family string) []Option {
	for _, f := range families {
		if f.name != family {
			continue
		}
		var list []Option
		for _, o := range f.options {
			list = append(list, Option{Name: o.name, Allowed: o.allowed(", "), Default: o.fallback(nil)})
		}
		return list
	}
	return nil
}

// families is the closed list of variants in this package.
var families = []*family{&urimFamily, &modiarFamily, &hoyito2Family, &omwesoFamily, &owareFamily}

// family is a variant with its options.
type family struct {
	name    string
	options []option
	rules   func(f *family, o chosen) Rules
}

// option is a choice of words, or a whole number from lo to hi where there are no words.
type option struct {
	name   string
	words  []string // the first is the default
	lo, hi int
	def    func(o chosen) int // the default number, given the options before it
}

func words(name string, words ...string) option { return option{name: name, words: words} }

func number(name string, lo, hi, def int) option {
	return option{name: name, lo: lo, hi: hi, def: func(chosen) int { return def }}
}

// chosen maps every option of a family to its value.
type chosen map[string]string

// is reports whether the option has the given value.
func (c chosen) is(name, value string) bool { return c[name] == value }

// number returns the value of an option that is a number.
func (c chosen) number(name string) int {
	n, _ := strconv.Atoi(c[name])
	return n
}

func (o *option) fallback(c chosen) string {
	if o.words != nil {
		return o.words[0]
	}
	return strconv.Itoa(o.def(c))
}

func (o *option) allowed(sep string) string {
	if o.words != nil {
		return strings.Join(o.words, sep)
	}
	return fmt.Sprintf("%d–%d", o.lo, o.hi)
}

func (o *option) accepts(value string) bool {
	for _, w := range o.words {
		if w == value {
			return true
		}
	}
	if o.words != nil {
		return false
	}
	n, err := natural(value, uint64(o.hi))
	return err == nil && int(n) >= o.lo
}

func (f *family) parse(list string, listed bool) (chosen, error) {
	given := chosen{}
	if listed && list == "" {
		return nil, fmt.Errorf("mancala: %s: empty list of options: want option=value, or no colon", f.name)
	}
	for _, item := range strings.Split(list, ",") {
		if !listed {
			break
		}
		name, value, _ := strings.Cut(item, "=")
		o := f.option(name)
		if o == nil {
			return nil, fmt.Errorf("mancala: %s: option %q: want one of %s", f.name, name, f.names())
		}
		if _, twice := given[name]; twice {
			return nil, fmt.Errorf("mancala: %s: option %s given twice: want it once", f.name, name)
		}
		if !o.accepts(value) {
			return nil, fmt.Errorf("mancala: %s: %s %q: want %s", f.name, name, value, o.allowed(" or "))
		}
		given[name] = value
	}
	for _, o := range f.options {
		if _, ok := given[o.name]; !ok {
			given[o.name] = o.fallback(given)
		}
	}
	return given, nil
}

func (f *family) option(name string) *option {
	for i := range f.options {
		if f.options[i].name == name {
			return &f.options[i]
		}
	}
	return nil
}

func (f *family) names() string {
	var names []string
	for _, o := range f.options {
		names = append(names, o.name)
	}
	return strings.Join(names, ", ")
}

// spec prints the options that are not at their default, in the family's order.
func (f *family) spec(c chosen) string {
	var list []string
	for _, o := range f.options {
		if v := c[o.name]; v != o.fallback(c) {
			list = append(list, o.name+"="+v)
		}
	}
	if list == nil {
		return f.name
	}
	return f.name + ":" + strings.Join(list, ",")
}

// natural parses a number without sign or leading zeros, at most max.
func natural(text string, max uint64) (uint64, error) {
	if text == "" || len(text) > 1 && text[0] == '0' || text[0] == '+' {
		return 0, strconv.ErrSyntax
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err == nil && n > max {
		err = strconv.ErrRange
	}
	return n, err
}
