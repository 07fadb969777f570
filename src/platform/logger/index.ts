import pino from "pino";
import { systemClock, toIso, type Clock } from "../../kernel/clock.ts";
import { isatty } from "node:tty";
import type { LogFormat, LogLevel } from "./levels.ts";
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
interface LogDestination {
  write(line: string): unknown;
}

interface LoggerOptions {
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

/** The maximum length of a line with its line break, in bytes: log collectors cut or drop longer ones. */
export const lineBytesMax = 16_384;

/** The fields that a shortened line keeps. */
const unchanged = ["level", "time", "pid", "msg", "requestId", "operation"];
const unchangedMax = 512;

/** Returns the line unchanged or, if it is too long, a shorter JSON line that states the original length. */
function fitLine(line: string): string {
  const bytes = Buffer.byteLength(line);
  if (bytes <= lineBytesMax) return line;
  const full = JSON.parse(line) as Record<string, unknown>;
  const short: Record<string, unknown> = {};
  for (const name of unchanged) {
    const value = full[name];
    if (value === undefined) continue;
    short[name] = typeof value === "string" ? value.slice(0, unchangedMax) : value;
  }
  return `${JSON.stringify({ ...short, cutFromBytes: bytes })}\n`;
}

/** Characters that could move the cursor, or change how a terminal shows the rest of a line. */
const unprintable = /[\p{Cc}\p{Cf}\u2028\u2029]/gu;
const levelWidth = 5;

/** Returns a JSON line of the logger as text for people: time, level, message, then the fields and the error's stack. */
function readableLine(line: string): string {
  const {
    level,
    time,
    pid: _pid,
    msg,
    err,
    ...fields
  } = JSON.parse(line) as Record<string, unknown>;
  const parts = [
    textOf(time).slice(11, 19),
    textOf(level).toUpperCase().padEnd(levelWidth),
    printable(textOf(msg)),
    ...Object.entries(fields).map(([name, value]) => `${printable(name)}=${valueOf(value)}`),
  ];
  return `${parts.join(" ")}\n${errorLines(err)}`;
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function valueOf(value: unknown): string {
  const isPlain = typeof value === "string" && /^[^\s"=]+$/.test(value);
  return printable(isPlain ? value : JSON.stringify(value));
}

function errorLines(error: unknown): string {
  if (typeof error !== "object" || error === null) return "";
  const { stack, type, message, cause } = error as Record<string, unknown>;
  const text = textOf(stack) === "" ? `${textOf(type)}: ${textOf(message)}` : textOf(stack);
  const own = text.split("\n").map((each) => `  ${printable(each)}\n`);
  return own.join("") + errorLines(cause);
}

function printable(text: string): string {
  return text.replaceAll(unprintable, "\u{fffd}");
}
