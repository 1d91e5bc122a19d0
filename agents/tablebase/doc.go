// Package tablebase solves two-row variants exactly, for all positions with at most so many seeds on the board.
//
// The value of a position is the best store difference its mover can still make: what the mover will capture less what the
// opponent will, if both play for that. The seeds that a sweep deals out at the end (C4) count like captures. Play
// that goes round for ever without a capture counts 0 for the seeds left. That is cycle=split without the quiet limit: a position
// is then worth the same however it was reached. Exactly, with A(t) the positions in which the mover can force t or more from
// here, in a finite number of plies, whatever the opponent does, and B(t) those in which the opponent can force that:
//
//	value = the largest t > 0 with the position in A(t); minus the largest t > 0 with it in B(t); 0 if there is neither
//
// The distance of a position is the number of plies to the next capture or to the end of the game under best play: among actions of
// best value, the side with the positive value goes the shortest way and the other side the longest. In a position of
// value 0 both go the shortest way; there may be none, and then play goes round for ever (Never).
//
// Together they are a proof: if both satisfy their equation at every position, the values are right, since the better side
// captures in time by always lessening the distance. Table.Verify checks it.
//
// An endless turn (C3) annuls the game whatever the stores hold, so it has no value as a store difference: such an
// action counts as never chosen. Where one could be of use the position is marked: the mover could do better than the
// value if an annulled game were worth more than all else to that side, or the opponent could. Where all actions are endless the
// value is 0.
//
// Play at ply 0 may have rules of its own (M6), so the table holds positions of later plies and a Table looks one ply
// ahead at ply 0.
//
// Positions are solved by levels of seeds on the board, each against the smaller ones, into which captures lead. Within a
// level, bounds of the value draw together: the first is the worst and the best there is, and each round sets the bounds
// of a position to what those of the last round say of its actions. After n rounds they are the values of play that may last n
// plies more without a capture and then counts as lost, or as won. So the middle one of lower bound, 0 and upper bound is the value
// of play that stops after n plies with 0, and the round in which the last of these changes is known: Level.Quiet.
package tablebase
