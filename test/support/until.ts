import { inspect } from "node:util";

const pauseMs = 25;

/**
 * Polls until the answer is good and returns it; after `patienceMs` it throws with the last answer. For other processes
 * and real chains, which take their own time.
 */
export async function until<T>(
  what: string,
  ask: () => Promise<T> | T,
  isGood: (answer: T) => boolean,
  patienceMs = 40_000,
): Promise<T> {
  const deadline = Date.now() + patienceMs;
  for (;;) {
    const answer = await ask();
    if (isGood(answer)) return answer;
    if (Date.now() > deadline) {
      throw new Error(`${what} did not happen in time; last was ${inspect(answer, { depth: 6 })}`);
    }
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
}
