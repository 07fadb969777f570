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
      let rest = "";
      let seen = 0;
      answer.setEncoding("utf8");
      answer.on("data", (chunk: string) => {
        // An event may arrive in two chunks, and two events in one.
        const events = (rest + chunk).split("\n\n");
        rest = events.pop() ?? "";
        for (const event of events) {
          if (!event.includes("event: session")) continue;
          seen += 1;
          // The first one is the state in which the stream began.
          if (seen > 1) process.send?.({ checkoutId, at: Date.now() });
        }
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
