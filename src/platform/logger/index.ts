import pino from "pino";
import type { Clock } from "../../kernel/clock.ts";
import { systemClock, toIso } from "../../kernel/clock.ts";
import type { LogLevel } from "./levels.ts";
import { fitLine } from "./line.ts";
import { redactFields, redactText } from "./redact.ts";

/** Writes one line: a message alone, or fields and a message. An error goes under `err`. */
interface Log {
  (message: string): void;
  (fields: object, message: string): void;
}

/** What the program logs with. Secrets in fields and messages are left out, whoever passes them. */
export interface Logger {
  readonly debug: Log;
  readonly info: Log;
  readonly warn: Log;
  readonly error: Log;
  /** A logger whose every line has these fields too. */
  child(fields: object): Logger;
}

/** Where lines go; each ends with a line end. */
export interface LogDestination {
  write(line: string): unknown;
}

export interface LoggerOptions {
  readonly level: LogLevel;
  readonly clock?: Clock;
  /** Standard error unless tests want to read it. */
  readonly destination?: LogDestination;
}

/** JSON lines with `level`, `time` (ISO 8601), `pid`, `msg` and the fields, each of at most 16 KiB. */
export function createLogger(options: LoggerOptions): Logger {
  const { level, clock = systemClock, destination = standardError() } = options;
  const lines = pino(
    {
      level,
      base: { pid: process.pid },
      timestamp: () => `,"time":"${toIso(clock.now())}"`,
      // pino would describe the errors again that are plain already.
      serializers: { err: (error: unknown) => error },
      formatters: { level: (label) => ({ level: label }) },
    },
    {
      write(line) {
        destination.write(fitLine(line));
      },
    },
  );
  return wrap(lines);
}

/** A logger that writes nothing. */
export const silentLogger: Logger = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
  child: () => silentLogger,
};

type Level = "debug" | "info" | "warn" | "error";

function wrap(lines: pino.Logger): Logger {
  function log(level: Level): Log {
    return (...given: [string] | [object, string]) => {
      if (!lines.isLevelEnabled(level)) return;
      if (given.length === 1) lines[level](redactText(given[0]));
      else lines[level](redactFields(given[0]), redactText(given[1]));
    };
  }
  return {
    debug: log("debug"),
    info: log("info"),
    warn: log("warn"),
    error: log("error"),
    child: (fields) => wrap(lines.child(redactFields(fields))),
  };
}

/** Written at once, so that the last line before a crash is there; a reader that has gone away stops nothing. */
function standardError(): LogDestination {
  const stream = pino.destination({ fd: 2, sync: true });
  stream.on("error", () => undefined);
  return stream;
}
