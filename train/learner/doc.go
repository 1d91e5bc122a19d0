// Package learner makes the weights of package neural better: the same network as a graph that Gorgonia
// differentiates and runs, fed with batches of fixed size, and an Adam of our own behind it.
//
// The graph is built of a few fused operations (sparse first layer, linear with bias, skip and relu, masked
// cross-entropy), because Gorgonia's stock softmax does not survive masked rows and its small operations cost
// more than they compute. Each operation owns its output, allocated once: a step leaves little for the
// garbage collector. What they compute with is the kernel that neural.Kernel names; its products can also stand
// behind Gorgonia's own operations, of which Stock is made, the yardstick of benchmarks.
//
// This is the only package that imports Gorgonia. Results depend on the seed, the batches, the configuration and the
// kernel, not on the number of processors.
package learner
