/**
 * The log levels, from most to least verbose. In a separate file, so that settings can be read without loading the
 * logger.
 */
export const logLevels = ["trace", "debug", "info", "warn", "error", "fatal", "silent"] as const;
export type LogLevel = (typeof logLevels)[number];
