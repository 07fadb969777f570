import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { csvLine } from "../../kernel/csv.ts";
import type { Logger } from "../../platform/logger/index.ts";
import type { CsvContent } from "../declare/csv.ts";
import type { Exchange } from "./exchange.ts";

/**
 * Sends a CSV file while it is read: no more than a page waits for a slow client. An error before the first page is an
 * ordinary problem; after that the connection breaks, so that the client does not take a part for the whole.
 */
export async function sendCsv(ctx: Exchange, content: CsvContent, logger: Logger): Promise<void> {
  const { fileName } = content;
  const isRead = ctx.method !== "HEAD";
  const lines = csvText(content);
  const first = isRead ? await lines.next() : null;
  ctx.status = 200;
  ctx.set("Content-Type", "text/csv; charset=utf-8; header=present");
  ctx.set("Content-Disposition", `attachment; filename="${fileName}"`);
  if (first === null || first.done === true) {
    ctx.body = "";
    return;
  }
  const { value: start } = first;
  ctx.respond = false;
  const { res } = ctx;
  res.statusCode = 200;
  async function* all(): AsyncGenerator<string> {
    yield start;
    yield* lines;
  }
  try {
    await pipeline(Readable.from(all()), res);
  } catch (error) {
    // The client has left, or the rest could not be read. Either way, the connection has ended.
    if (!hasLeft(error)) logger.error({ err: error, fileName }, "an export ended early");
  }
}

/** Returns the text of a CSV file in parts: its head with the first page, and then a page at a time. */
export async function* csvText({ head, pages }: CsvContent): AsyncGenerator<string, void> {
  let before = csvLine(head);
  for await (const page of pages) {
    yield before + page.map(csvLine).join("");
    before = "";
  }
  if (before !== "") yield before;
}

function hasLeft(error: unknown): boolean {
  if (!(error instanceof Error && "code" in error)) return false;
  return ["ERR_STREAM_PREMATURE_CLOSE", "EPIPE", "ECONNRESET"].includes(String(error.code));
}
