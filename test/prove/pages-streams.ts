// Opens the streams of changes of many checkouts, each from an address with few others, in a process of its own. It tells
// its parent how many were refused, and then each change with its time.
import { Agent, request } from "node:http";

interface Task {
  readonly url: string;
  readonly checkouts: readonly string[];
  /** The maximum number of streams of one address. */
  readonly perAddress: number;
}

/** Connections opened at a time. */
const openingMax = 50;

const { url, checkouts, perAddress } = JSON.parse(process.argv[2] ?? "") as Task;
const agent = new Agent({ keepAlive: true, maxSockets: Infinity });

/** Opens a stream. Returns false if it was refused. */
function open(checkoutId: string, place: number): Promise<boolean> {
  const address = `192.0.2.${String(1 + Math.floor(place / perAddress))}`;
  return new Promise((resolve, reject) => {
    const asked = request(`${url}/pay/${checkoutId}/events`, {
      agent,
      headers: { Accept: "text/event-stream", "X-Forwarded-For": address },
    });
    asked.once("error", reject);
    asked.once("response", (answer) => {
      resolve(answer.statusCode === 200);
      let isFirst = true;
      answer.on("data", (chunk: Buffer) => {
        if (!chunk.includes("event: session")) return;
        // The first one is the state in which the stream began.
        if (!isFirst) process.send?.({ checkoutId, at: Date.now() });
        isFirst = false;
      });
    });
    asked.end();
  });
}

let refused = 0;
for (let at = 0; at < checkouts.length; at += openingMax) {
  const some = checkouts.slice(at, at + openingMax);
  const opened = await Promise.all(some.map((id, place) => open(id, at + place)));
  refused += opened.filter((isOpen) => !isOpen).length;
}
process.send?.(refused);
