import { once } from "node:events";
import { createInterface } from "node:readline";
import type { Installation, RunningServer } from "../../support/programs/program.ts";
import type { Engine } from "./engine.ts";

export interface ContainerOptions {
  /** The first part of the names of the containers. */
  readonly name: string;
  readonly settings: Readonly<Record<string, string>>;
  /** Words for all of its containers, such as its volumes. */
  readonly words: readonly string[];
  /** The address of its containers; by default each has its own. */
  readonly host?: string;
}

export interface ContainerInstallation extends Installation {
  /** Returns the name of the container that started last. */
  newest(): string;
}

/** The options with which the compose files run the image. */
export const hardened = [
  ...["--init", "--read-only", "--tmpfs", "/tmp"],
  ...["--cap-drop", "ALL", "--security-opt", "no-new-privileges"],
];

/** An installation in containers of the image: each command and each server has one of its own. */
export function makeContainerInstallation(
  engine: Engine,
  { name, settings, words, host }: ContainerOptions,
): ContainerInstallation {
  const servers: string[] = [];
  const given = (more: Readonly<Record<string, string>> = {}) =>
    Object.entries({ TILL_RATES: "off", ...settings, ...more }).flatMap(([key, value]) => [
      "--env",
      `${key}=${value}`,
    ]);
  return {
    folder: engine.folder,
    env: settings,
    newest: () => servers.at(-1) ?? "",
    run: (args, input) =>
      engine.attempt(
        ["run", "--rm", "--interactive", ...hardened, ...words, ...given(), "till", ...args],
        input,
      ),
    async serve(more) {
      const server = `${name}-${String(servers.length + 1)}`;
      servers.push(server);
      const child = engine.start([
        ...["docker", "run", "--name", server, ...hardened, ...words, ...given(more), "till"],
      ]);
      return runningServer(engine, { child, server, port: more?.["TILL_PORT"] ?? "8080", host });
    },
    remove: () => engine.clear(),
  };
}

/** Returns a server once it is ready. */
async function runningServer(
  engine: Engine,
  {
    child,
    server,
    port,
    host,
  }: {
    child: ReturnType<Engine["start"]>;
    server: string;
    port: string;
    host: string | undefined;
  },
): Promise<RunningServer> {
  let log = "";
  child.stderr.on("data", (chunk: Buffer) => (log += chunk.toString("utf8")));
  const ended = once(child, "exit") as Promise<[number | null]>;
  for await (const line of createInterface({ input: child.stdout })) {
    if (!line.startsWith("Till is ready at ")) continue;
    const address = host ?? (await addressOf(engine, server));
    return {
      url: `http://${address}:${port}`,
      child,
      async kill() {
        await engine.run(["kill", "--signal", "KILL", server]);
        await ended;
      },
      async stop() {
        await engine.run(["stop", "--time", "30", server]);
        return (await ended)[0];
      },
    };
  }
  throw new Error(`the container ended before the server was ready: ${log}`);
}

/** Returns the address of a container in the network of the engine. */
export function addressOf(engine: Engine, container: string): Promise<string> {
  return engine.run(["inspect", "--format", "{{.NetworkSettings.IPAddress}}", container]);
}
