/** Settings of the image and of the systemd unit, with which a server under load takes less memory. */
export const memorySettings: Readonly<Record<string, string>> = {
  MALLOC_ARENA_MAX: "2",
  NODE_OPTIONS: "--max-semi-space-size=8",
};
