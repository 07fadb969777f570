/**
 * Thrown when a command needs more than the program that only reads contains. Nothing has been written or printed yet:
 * the command line starts over in the whole program.
 */
export class WholeProgramNeeded extends Error {
  override readonly name = "WholeProgramNeeded";
}
