/** From all to nothing; in a file of its own, so that settings can be read without the machinery of logging. */
export const logLevels = ["trace", "debug", "info", "warn", "error", "fatal", "silent"] as const;
export type LogLevel = (typeof logLevels)[number];
