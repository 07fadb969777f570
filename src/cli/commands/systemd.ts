import { execFile } from "node:child_process";
import { promisify } from "node:util";
import type { Logger } from "../../platform/logger/index.ts";
import type { Terminal } from "../terminal/terminal.ts";

const run = promisify(execFile);
/** The time limit of a notice, in milliseconds. */
const noticeMs = 5_000;

/**
 * Tells systemd that the server is ready, or that it stops; does nothing unless systemd has started it with
 * `Type=notify`. Node has no unix datagram sockets, so systemd's own command sends the notice, for which the unit needs
 * `NotifyAccess=all`.
 */
export async function tellSystemd(
  { surroundings: { env } }: Pick<Terminal, "surroundings">,
  notice: "ready" | "stopping",
  logger: Logger,
): Promise<void> {
  const { NOTIFY_SOCKET: socket } = env;
  if (socket === undefined || socket === "") return;
  try {
    const state = notice === "ready" ? "READY=1" : "STOPPING=1";
    await run("systemd-notify", [state], { env, timeout: noticeMs });
  } catch (error) {
    logger.warn({ err: error }, "systemd could not be told: is systemd-notify installed?");
  }
}
