package brookmere.kernel.program

/** Adds the nodes of joins and what they look into. */
private[program] trait JoinNodes { this: ProgramBuilder => }
