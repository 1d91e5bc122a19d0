// Package imports holds the test of the import table: who may know whom, and why.
package imports
