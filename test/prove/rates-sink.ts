// Receivers in a process of their own, so that what they cost is not the sender's: some answer at once and note how old
// each event was, one takes requests and never answers. Told by messages what to do.
import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";

/** What the receivers that answer have seen since they were last asked. */
export interface Seen {
  readonly count: number;
  /** How old each event was when it had arrived, in milliseconds, ascending. */
  readonly ages: readonly number[];
  /** When the last request came, by the machine's clock. */
  readonly lastAt: number;
}

let ages: number[] = [];
let lastAt = 0;

/** Of a hundred merchants each has its own host: so many ports. */
const hosts = 100;

const answer: RequestListener = (request, response) => {
  const chunks: Buffer[] = [];
  request.on("data", (chunk: Buffer) => chunks.push(chunk));
  request.on("end", () => {
    lastAt = Date.now();
    const { timestamp } = JSON.parse(Buffer.concat(chunks).toString("utf8")) as {
      timestamp: string;
    };
    ages.push(lastAt - Date.parse(timestamp));
    response.end();
  });
};
const hole = createServer((request) => {
  request.resume();
});

async function listen(server: Server): Promise<number> {
  server.keepAliveTimeout = 60_000;
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return (server.address() as AddressInfo).port;
}

process.on("message", (message: "count" | "take") => {
  const seen: Seen =
    message === "count"
      ? { count: ages.length, ages: [], lastAt }
      : { count: ages.length, ages: ages.toSorted((one, other) => one - other), lastAt };
  if (message === "take") ages = [];
  process.send?.(seen);
});
process.once("disconnect", () => process.exit());
const sinks: number[] = [];
while (sinks.length < hosts) sinks.push(await listen(createServer(answer)));
process.send?.({ sinks, hole: await listen(hole) });
