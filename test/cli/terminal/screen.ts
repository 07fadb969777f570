import { PassThrough } from "node:stream";
import {
  makeTerminal,
  type GlobalFlags,
  type Terminal,
} from "../../../src/cli/terminal/terminal.ts";

/** A terminal of some columns, or a pipe, with what was written to it. */
export function screen(
  columns: number | null,
  env: Readonly<Record<string, string>>,
  flags: GlobalFlags = {},
): { readonly terminal: Terminal; readonly stdout: () => string; readonly stderr: () => string } {
  const kind = columns === null ? { isTTY: false } : { isTTY: true, columns };
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  const terminal = makeTerminal(flags, {
    stdin: Object.assign(new PassThrough(), kind),
    stdout: Object.assign(stdout, kind),
    stderr: Object.assign(stderr, kind),
    env,
  });
  const collect = (stream: PassThrough) => {
    const parts: Buffer[] = [];
    return () => {
      let chunk = stream.read() as Buffer | null;
      while (chunk !== null) {
        parts.push(chunk);
        chunk = stream.read() as Buffer | null;
      }
      return Buffer.concat(parts).toString("utf8").replace(/\n$/, "");
    };
  };
  return { terminal, stdout: collect(stdout), stderr: collect(stderr) };
}
