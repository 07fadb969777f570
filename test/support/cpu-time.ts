/**
 * Returns the processor time of this process and all its threads so far, in milliseconds. Unlike the time that passes, it
 * does not grow while other programs run, so it is what a test may limit.
 */
export function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}
