// An engine of the proof's own: podman with its storage, its network and its settings in one folder, so that the images,
// containers and volumes have the names of the pages and meet nobody else's. The pages say `docker`, which leads to it.
import { spawn, spawnSync, type ChildProcessByStdio } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { whenThisProcessIsGone } from "../../support/programs/guard.ts";

/** The network of the containers; podman's own is 10.88.0.0/16, on the interface podman0. */
const network = {
  name: "prove-image",
  id: "70726f7665696d616765".padEnd(64, "0"),
  driver: "bridge",
  network_interface: "prove-image0",
  created: "2026-01-01T00:00:00Z",
  subnets: [{ subnet: "10.213.77.0/24", gateway: "10.213.77.1" }],
  ipv6_enabled: false,
  internal: false,
  dns_enabled: false,
  ipam_options: { driver: "host-local" },
};

export interface Ran {
  readonly status: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Engine {
  /** The programs that run the containers, with their versions. */
  readonly versions: string;
  /** The folder of the storage and of other files of a run. */
  readonly folder: string;
  /** Runs `docker` with these words, and returns what it prints. Throws if it fails. */
  run(words: readonly string[], input?: string): Promise<string>;
  /** Runs `docker` with these words, and returns its exit code too. */
  attempt(words: readonly string[], input?: string): Promise<Ran>;
  /** Runs a line in a shell, such as one of a page, in a folder. */
  shell(line: string, folder: string): Promise<Ran>;
  /** Starts a program with the settings of the engine, and does not wait for its end. */
  start(command: readonly string[], folder?: string): ChildProcessByStdio<null, Readable, Readable>;
  /** Removes all containers, pods and volumes. */
  clear(): Promise<void>;
  /** Removes everything, also its folder unless the images stay in it for the next run. */
  end(keepsImages: boolean): Promise<void>;
}

/** Returns why there is no engine here, or null. */
export function engineUnavailableReason(): string | null {
  if (spawnSync("podman", ["--version"]).status !== 0)
    return "podman is missing: apt-get install podman buildah runc catatonit";
  return process.getuid?.() === 0 ? null : "it needs root";
}

/**
 * Opens the engine whose storage is in `folder`. If this process is killed, its containers are removed, and so is the
 * folder `temporary`.
 */
export async function openEngine(folder: string, temporary: string): Promise<Engine> {
  const at = (name: string) => join(folder, name);
  for (const name of ["programs", "network", "tmp"]) mkdirSync(at(name), { recursive: true });
  // crun, which podman prefers, refuses hosts that have both versions of control groups.
  const isUnified = existsSync("/sys/fs/cgroup/cgroup.controllers");
  const runtime = isUnified ? null : "runc";
  const isSystemd = existsSync("/run/systemd/system");
  writeFileSync(
    at("containers.conf"),
    [
      "[containers]",
      // Podman asks for more than a host without CAP_SYS_RESOURCE may give.
      'default_ulimits = ["nofile=1024:4096", "nproc=4096:4096"]',
      "[engine]",
      ...(runtime === null ? [] : [`runtime = "${runtime}"`]),
      `cgroup_manager = "${isSystemd ? "systemd" : "cgroupfs"}"`,
      `tmp_dir = "${at("tmp")}"`,
      // Locks in shared memory would be those of the machine's own podman.
      'lock_type = "file"',
      'events_logger = "file"',
      "[network]",
      `default_network = "${network.name}"`,
      `network_config_dir = "${at("network")}"`,
      "",
    ].join("\n"),
  );
  writeFileSync(
    at("storage.conf"),
    `[storage]\ndriver = "overlay"\ngraphroot = "${at("storage")}"\nrunroot = "${at("run")}"\n`,
  );
  writeFileSync(at(`network/${network.name}.json`), JSON.stringify(network));
  writeFileSync(at("registries.conf"), 'unqualified-search-registries = ["docker.io"]\n');
  const settings = {
    CONTAINERS_CONF: at("containers.conf"),
    CONTAINERS_STORAGE_CONF: at("storage.conf"),
    CONTAINERS_REGISTRIES_CONF: at("registries.conf"),
    // The format that has HEALTHCHECK, and a build that needs no rights beyond those of root.
    BUILDAH_FORMAT: "docker",
    BUILDAH_ISOLATION: "chroot",
    // The proof runs the health checks itself, at their interval, because systemd's timers are not everywhere.
    DISABLE_HC_SYSTEMD: "true",
  };
  const exports = Object.entries(settings).map(([name, value]) => `export ${name}='${value}'\n`);
  const program = at("programs/docker");
  writeFileSync(program, `#!/bin/sh\n${exports.join("")}exec podman "$@"\n`, { mode: 0o755 });
  const env = { ...process.env, PATH: `${at("programs")}:${process.env["PATH"] ?? ""}` };
  const guard = whenThisProcessIsGone(
    'for each in pod container; do "$1" $each rm --all --force; done; "$1" volume rm --all --force; ' +
      'grep -o " $2/[^ ]*" /proc/mounts | sort -r | xargs -r umount; rm -rf "$2"',
    ...[program, temporary],
  );
  const start = (command: readonly string[], cwd = folder) => {
    const [program = "", ...words] = command;
    return spawn(program, words, { cwd, env, stdio: ["ignore", "pipe", "pipe"] });
  };
  const attempt: Engine["attempt"] = (words, input = "") =>
    finish("docker", words, { env, cwd: folder }, input);
  const run: Engine["run"] = async (words, input) => {
    const { status, stdout, stderr } = await attempt(words, input);
    if (status !== 0) throw new Error(`docker ${words.join(" ")}: ${stderr.slice(-2_000)}`);
    return stdout.trim();
  };
  const clear = async () => {
    for (const words of [
      ["pod", "rm", "--all", "--force"],
      ["rm", "--all", "--force", "--volumes"],
      ["volume", "rm", "--all", "--force"],
    ])
      await run(words);
  };
  return {
    versions:
      `${await run(["--version"])}, ${await run(["info", "--format", "{{.Host.OCIRuntime.Version}}"])}`.replaceAll(
        "\n",
        " ",
      ),
    folder,
    run,
    attempt,
    start,
    shell: (line, cwd) => finish("/bin/sh", ["-c", line], { env, cwd }),
    clear,
    async end(keepsImages) {
      await clear();
      guard.dismiss();
      if (keepsImages) return;
      await run(["rmi", "--all", "--force"]);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Runs a program to its end. */
async function finish(
  program: string,
  words: readonly string[],
  options: { readonly env: NodeJS.ProcessEnv; readonly cwd: string },
  input = "",
): Promise<Ran> {
  const child = spawn(program, words, options);
  const [stdout, stderr] = [text(child.stdout), text(child.stderr)];
  // A program may end without reading its input.
  child.stdin.on("error", () => undefined).end(input);
  const [status] = (await once(child, "close")) as [number | null];
  return { status: status ?? 1, stdout: await stdout, stderr: await stderr };
}
