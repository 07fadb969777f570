/**
 * The log levels, from most to least verbose, and the formats. In a separate file, so that settings can be read without loading the
 * logger.
 */
export const logLevels = ["trace", "debug", "info", "warn", "error", "fatal", "silent"] as const;
/** `auto` is text on a terminal, and JSON everywhere else. */
export const logFormats = ["auto", "json", "text"] as const;
export type LogFormat = (typeof logFormats)[number];
export type LogLevel = (typeof logLevels)[number];
