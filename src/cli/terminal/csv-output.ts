import { once } from "node:events";
import { link, open, rename, rm } from "node:fs/promises";
import type { Writable } from "node:stream";
import type { CsvContent } from "../../http/declare/operation.ts";
import { csvLine, type CsvCell } from "../../kernel/csv.ts";
import { UsageError } from "../failures/refusals.ts";
import { interruptibly } from "../interrupt.ts";
import type { ProgressBar } from "./progress.ts";
import { printable, type Terminal } from "./terminal.ts";

/**
 * Prints a CSV file while it is read: as CSV, as a JSON list of the same columns, or the first column alone. With
 * `output`, it writes a new file, which appears under its name once it is complete. Ctrl-C ends it.
 */
export async function printCsv(
  terminal: Terminal,
  content: CsvContent,
  output: string | undefined,
  bar: ProgressBar,
): Promise<void> {
  let count = 0;
  async function* parts(signal: AbortSignal): AsyncGenerator<string> {
    const form = formOf(terminal, content.head, output === undefined);
    let before = form.start;
    for await (const page of content.pages) {
      signal.throwIfAborted();
      // A terminal that shows the rows has no place for a bar.
      if (output !== undefined || terminal.width === null)
        bar.report("Exporting rows", count, null);
      if (page.length > 0) {
        yield before + page.map(form.row).join(form.between);
        before = form.between;
      }
      count += page.length;
    }
    yield (count === 0 ? form.start : "") + form.end;
  }
  await interruptibly(async (signal) => {
    if (output === undefined) await writeAll(terminal.surroundings.stdout, parts(signal));
    else await writeNewFile(terminal, output, parts(signal));
  });
  bar.end();
  const where = output === undefined ? "" : ` in ${output}`;
  terminal.talk(`${count.toLocaleString("en")} ${count === 1 ? "row" : "rows"}${where}.`);
}

interface Form {
  readonly start: string;
  readonly row: (cells: readonly CsvCell[]) => string;
  readonly between: string;
  readonly end: string;
}

function formOf(terminal: Terminal, head: readonly string[], isOnScreen: boolean): Form {
  switch (terminal.form) {
    case "json":
      return {
        start: '{"data":[',
        row: (cells) =>
          JSON.stringify(
            Object.fromEntries(head.map((name, index) => [name, cells[index] ?? null])),
          ),
        between: ",",
        end: '],"nextCursor":null}\n',
      };
    case "quiet":
      return { start: "", row: ([id]) => `${id ?? ""}\n`, between: "", end: "" };
    case "people": {
      const isSeen = isOnScreen && terminal.width !== null;
      // Texts of strangers must not control the terminal. Files get them unchanged.
      const row = (cells: readonly CsvCell[]) =>
        isSeen ? `${printable(csvLine(cells).trimEnd())}\n` : csvLine(cells);
      return { start: row(head), row, between: "", end: "" };
    }
  }
}

/** Writes the parts as fast as the reader takes them. */
export async function writeAll(
  stream: Writable,
  parts: AsyncIterable<string> | Iterable<string>,
): Promise<void> {
  for await (const part of parts) {
    if (!stream.write(part) && !stream.destroyed) {
      await Promise.race([once(stream, "drain"), once(stream, "close")]);
    }
    if (stream.destroyed) return;
  }
}

/**
 * Writes a file that its owner alone can read. It appears under its name completely or not at all, and replaces another
 * one only with --yes.
 */
export async function writeNewFile(
  { assumesYes }: Pick<Terminal, "assumesYes">,
  path: string,
  parts: AsyncIterable<string> | Iterable<string>,
): Promise<void> {
  const partial = `${path}.partial`;
  const file = await open(partial, "wx", 0o600).catch((error: unknown) => {
    throw unwritable(partial, error);
  });
  try {
    try {
      for await (const part of parts) await file.writeFile(part);
      await file.sync();
    } finally {
      await file.close();
    }
    if (assumesYes) await rename(partial, path);
    else await publish(partial, path);
  } catch (error) {
    await rm(partial, { force: true });
    throw hasCode(error) ? unwritable(path, error) : error;
  }
}

/** Gives a complete file its name. A link never overwrites a file, unlike a rename. */
async function publish(partial: string, path: string): Promise<void> {
  try {
    await link(partial, path);
  } catch (error) {
    if (!hasCode(error) || !["EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS"].includes(error.code)) {
      throw error;
    }
    // Some network shares have no links.
    await rename(partial, path);
    return;
  }
  await rm(partial, { force: true });
}

function unwritable(path: string, error: unknown): Error {
  const code = hasCode(error) ? error.code : "unknown error";
  return new UsageError(
    code === "EEXIST"
      ? `${path} exists. Give another name, or replace it with --yes.`
      : `${path} cannot be written (${code}).`,
  );
}

function hasCode(error: unknown): error is Error & { readonly code: string } {
  return error instanceof Error && "code" in error && "syscall" in error;
}
