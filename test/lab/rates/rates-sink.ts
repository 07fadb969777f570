// Receivers in a separate process, so that their cost is not the sender's: some answer at once and record the age of
// each event; one accepts requests and never answers. Messages control them.
import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";

/** The observations of the answering receivers since the last report. */
export interface Seen {
  readonly count: number;
  /** The age of each event on arrival, in milliseconds, ascending. */
  readonly ages: readonly number[];
  /** The time of the last request, by the machine's clock. */
  readonly lastAt: number;
}

let ages: number[] = [];
let lastAt = 0;

/** The number of ports: each of a hundred merchants has its own host. */
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
