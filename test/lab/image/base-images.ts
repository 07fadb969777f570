// The images from which the Dockerfile begins: those of the registry, or, where none is reachable, made ones of the same
// names from Debian's packages and the package `node` of npm, which has the official binary of Node.
import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Engine } from "./engine.ts";

const registry = "https://registry-1.docker.io/v2/";
/** The time in which the registry of images answers, in milliseconds. */
const registryMsMax = 10_000;
/** The npm of a made image; the one that Node 24.11.1 brings. */
const npmVersion = "11.6.2";
const certificates = "/etc/ssl/certs/ca-certificates.crt";

/** Provides the images that a Dockerfile names. Returns what they are, in words. */
export async function provideBaseImages(
  engine: Engine,
  dockerfile: string,
  folder: string,
): Promise<{ readonly names: readonly string[]; readonly origin: string }> {
  const tags = [...dockerfile.matchAll(/^FROM node:(\S+)/gm)].map(([, tag = ""]) => tag);
  const names = tags.map((tag) => `docker.io/library/node:${tag}`);
  if (names.length === 0) throw new Error("the Dockerfile begins from no image of Node");
  const found = await Promise.all(names.map((name) => engine.attempt(["image", "exists", name])));
  if (found.every(({ status }) => status === 0)) {
    const comment = await engine.run([
      "image",
      "inspect",
      "--format",
      "{{.Comment}}",
      names[0] ?? "",
    ]);
    return { names, origin: `of an earlier run, ${comment || "from the registry"}` };
  }
  if (await isReachable(registry)) {
    for (const name of names) await engine.run(["pull", "--quiet", name]);
    return { names, origin: "from the registry" };
  }
  const version = tags[0]?.split("-")[0] ?? "";
  const suite = /-(\w+)/.exec(tags[0] ?? "")?.[1] ?? "";
  const origin = `made, because no registry of images is reachable: Debian ${suite} by debootstrap, node@${version} and npm@${npmVersion} of npm`;
  await makeBaseImages(engine, { tags, version, suite, origin, folder });
  return { names, origin };
}

async function isReachable(url: string): Promise<boolean> {
  try {
    await fetch(url, { signal: AbortSignal.timeout(registryMsMax) });
    return true;
  } catch {
    return false;
  }
}

interface Made {
  readonly tags: readonly string[];
  readonly version: string;
  readonly suite: string;
  readonly origin: string;
  readonly folder: string;
}

async function makeBaseImages(
  engine: Engine,
  { tags, version, suite, origin, folder }: Made,
): Promise<void> {
  const root = join(folder, "root");
  const inRoot = (line: string) => {
    execFileSync("chroot", [root, "/bin/sh", "-c", line], {
      stdio: ["ignore", "ignore", "pipe"],
      env: { PATH: "/usr/sbin:/usr/bin:/sbin:/bin", DEBIAN_FRONTEND: "noninteractive" },
    });
  };
  try {
    execFileSync("debootstrap", ["--variant=minbase", suite, root], { stdio: "ignore" });
    inRoot(
      "groupadd --gid 1000 node && useradd --uid 1000 --gid node --shell /bin/bash --create-home node",
    );
    installNode(root, version, join(folder, "packages"));
    // The one that runs has no tools; it is made first, and the build's begins from it.
    for (const tag of [...tags].sort((one, other) => other.length - one.length)) {
      if (!tag.endsWith("-slim")) {
        inRoot(
          "apt-get update -qq && apt-get install -qq -y -o Dpkg::Use-Pty=0 --no-install-recommends ca-certificates g++ make python3",
        );
        cpSync(certificates, join(root, certificates), { dereference: true });
        // This machine's way to npm, and Node's headers, which npm would download from nodejs.org.
        const npm = execFileSync("npm", ["config", "get", "registry"], { encoding: "utf8" }).trim();
        mkdirSync(join(root, "usr/local/etc"), { recursive: true });
        writeFileSync(
          join(root, "usr/local/etc/npmrc"),
          `registry=${npm}\ncafile=${certificates}\nnodedir=/usr/local\n`,
        );
      }
      inRoot(
        "apt-get clean && rm -rf /var/lib/apt/lists/* /usr/share/doc/* /usr/share/man/* /usr/share/locale/*",
      );
      const changes = [`ENV NODE_VERSION=${version}`, 'CMD ["node"]'].map(
        (change) => `--change '${change}'`,
      );
      const name = `docker.io/library/node:${tag}`;
      const line = `tar -C '${root}' --one-file-system -c . | docker import --quiet ${changes.join(" ")} --message '${origin}' - ${name}`;
      const { status, stderr } = await engine.shell(line, folder);
      if (status !== 0) throw new Error(`${name}: ${stderr}`);
    }
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}

/** Puts Node and npm where the official images have them. */
function installNode(root: string, version: string, folder: string): void {
  mkdirSync(folder, { recursive: true });
  const unpacked = (name: string) => {
    const into = join(folder, name.replace(/@.*/, ""));
    mkdirSync(into);
    execFileSync("npm", ["pack", "--silent", name], { cwd: into, stdio: "ignore" });
    const [archive = ""] = readdirSync(into);
    execFileSync("tar", ["-xzf", archive, "--strip-components=1", "--no-same-owner"], {
      cwd: into,
    });
    return into;
  };
  const local = join(root, "usr/local");
  const node = unpacked(`node-linux-${process.arch}@${version}`);
  cpSync(join(node, "bin/node"), join(local, "bin/node"));
  cpSync(join(node, "include"), join(local, "include"), { recursive: true });
  const modules = join(local, "lib/node_modules");
  mkdirSync(modules, { recursive: true });
  cpSync(unpacked(`npm@${npmVersion}`), join(modules, "npm"), { recursive: true });
  for (const name of ["npm", "npx"])
    symlinkSync(`../lib/node_modules/npm/bin/${name}-cli.js`, join(local, `bin/${name}`));
  rmSync(folder, { recursive: true });
}
