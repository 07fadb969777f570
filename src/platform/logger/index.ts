import pino from "pino";
import type { Clock } from "../../kernel/clock.ts";
import { systemClock, toIso } from "../../kernel/clock.ts";
import { isatty } from "node:tty";
import type { LogFormat, LogLevel } from "./levels.ts";
import { fitLine } from "./line.ts";
import { readableLine } from "./text.ts";
import { redactFields, redactText } from "./redact.ts";

/** Writes one line: a message, or fields and a message. An error is passed as `err`. */
interface Log {
  (message: string): void;
  (fields: object, message: string): void;
}

/** The program's logger. It redacts secrets in fields and messages. */
export interface Logger {
  readonly debug: Log;
  readonly info: Log;
  readonly warn: Log;
  readonly error: Log;
  /** Returns a logger that adds these fields to every line. */
  child(fields: object): Logger;
}

/** The output for lines; each ends with a line break. */
export interface LogDestination {
  write(line: string): unknown;
}

export interface LoggerOptions {
  readonly level: LogLevel;
  readonly clock?: Clock;
  /** By default `auto`, which looks at standard error. */
  readonly format?: LogFormat;
  /** Standard error by default; tests pass their own. */
  readonly destination?: LogDestination;
}

/**
 * Creates a logger that writes JSON lines with `level`, `time` (ISO 8601), `pid`, `msg` and the fields, at most 16 KiB
 * each; or the same as text.
 */
export function createLogger(options: LoggerOptions): Logger {
  const { level, format = "auto", clock = systemClock, destination = standardError() } = options;
  const isText = format === "text" || (format === "auto" && isReadByPeople(options));
  const lines = pino(
    {
      level,
      base: { pid: process.pid },
      timestamp: () => `,"time":"${toIso(clock.now())}"`,
      // Errors are already plain objects; pino would serialize them again.
      serializers: { err: (error: unknown) => error },
      formatters: { level: (label) => ({ level: label }) },
    },
    {
      write(line) {
        const fitting = fitLine(line);
        destination.write(isText ? readableLine(fitting) : fitting);
      },
    },
  );
  return wrap(lines);
}

/** A logger that discards every line. */
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

function isReadByPeople({ destination }: LoggerOptions): boolean {
  return destination === undefined && isatty(2);
}

/** Writes synchronously, so that the last line before a crash is not lost; a closed reader stops nothing. */
function standardError(): LogDestination {
  const stream = pino.destination({ fd: 2, sync: true });
  stream.on("error", () => undefined);
  return stream;
}
