import { inspect } from "node:util";

const pauseMs = 25;

/**
 * The longest that a test waits for a state, in milliseconds: far more than any machine needs, because it ends only tests
 * that would never end. A proof waits for more work. The limit of mocha (.mocharc.mjs) is that of several waits.
 */
export const patienceMs = process.env["TILL_PROVE"] === "1" ? 1_200_000 : 180_000;

/**
 * Polls until the answer is good and returns it; after `limitMs` it throws with the last answer. For other processes
 * and real chains, which take their own time.
 */
export async function until<T>(
  what: string,
  ask: () => Promise<T> | T,
  isGood: (answer: T) => boolean,
  limitMs = patienceMs,
): Promise<T> {
  const deadline = Date.now() + limitMs;
  for (;;) {
    const answer = await ask();
    if (isGood(answer)) return answer;
    if (Date.now() > deadline) {
      throw new Error(`${what} did not happen in time; last was ${inspect(answer, { depth: 6 })}`);
    }
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
}
