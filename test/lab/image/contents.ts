// The files and settings of the image: nothing to write that need not be written, no secrets, no tools of the build.
import { existsSync, lstatSync, readdirSync, readFileSync, type Stats } from "node:fs";
import { join } from "node:path";
import type { Engine } from "./engine.ts";
import type { Table } from "./table.ts";

const area = "contents";
/** The user `node` and its group. */
const user = 1000;
/** The folders of the user: its home, and those of the volumes. */
const own = /^(data|backups|home\/node)(\/|$)/;

interface Config {
  readonly User: string;
  readonly StopSignal: string;
  readonly Env: readonly string[];
  readonly ExposedPorts: object;
  readonly Volumes: object;
}

interface Inspected {
  readonly Config: Config;
  readonly Healthcheck?: object;
  readonly Size: number;
  readonly Architecture: string;
}

export async function proveContents(engine: Engine, table: Table, checkout: string): Promise<void> {
  const [image] = JSON.parse(await engine.run(["image", "inspect", "till"])) as Inspected[];
  if (image === undefined) throw new Error("there is no image");
  const { Config: config, Size: bytes, Architecture: architecture } = image;
  table.line(area, "runs as the user node", config.User === "node", config.User);
  table.line(
    area,
    "ends with SIGTERM",
    /^(SIGTERM|15)$/.test(config.StopSignal),
    config.StopSignal,
  );
  table.line(area, "has a health check", image.Healthcheck !== undefined);
  table.line(
    area,
    "has one volume and one port",
    "/data" in config.Volumes && "8080/tcp" in config.ExposedPorts,
  );
  const telling = config.Env.filter((each) => /secret|password|token|_key|npm_config/i.test(each));
  table.line(area, "has no secret among its variables", telling.length === 0, telling);

  const root = await engine.run(["image", "mount", "till"]);
  try {
    lookAt(root, checkout, table);
  } finally {
    await engine.run(["image", "unmount", "till"]);
  }

  const history = JSON.parse(await engine.run(["history", "--format", "json", "till"])) as {
    size: number;
    CreatedBy: string;
  }[];
  const first = history.findIndex(({ CreatedBy }) => CreatedBy.includes("HEALTHCHECK"));
  // The base's last step comes after all steps of the Dockerfile, because the newest step is the first.
  const last = history.findIndex(
    ({ CreatedBy }, place) => place > first && CreatedBy.includes("ENV NODE_ENV=production"),
  );
  const layers = history.slice(0, last + 1).reduce((sum, { size }) => sum + size, 0);
  table.figure(
    area,
    "size",
    `${mb(bytes)} (${architecture}), of which Till ${mb(layers)} and the base ${mb(bytes - layers)}`,
  );
}

const mb = (bytes: number) => `${(bytes / 1e6).toFixed(0)} MB`;

function lookAt(root: string, checkout: string, table: Table): void {
  const files = walk(root);
  const writable = files
    .filter(([path, about]) => !own.test(path) && isWritable(about))
    .map(([path]) => path);
  table.line(
    area,
    "has nothing that its user or others can write",
    writable.length === 0,
    writable.slice(0, 20),
  );
  const foreign = files
    .filter(([path, { uid, gid }]) => /^till(\/|$)/.test(path) && (uid !== 0 || gid !== 0))
    .map(([path]) => path);
  table.line(
    area,
    "has a program that belongs to root",
    foreign.length === 0 && existsSync(join(root, "till/bin/till")),
    foreign,
  );
  for (const folder of ["data", "backups"]) {
    const { uid, gid, mode } = lstatSync(join(root, folder));
    const isOwn = uid === user && gid === user && (mode & 0o777) === 0o700;
    const isEmpty = readdirSync(join(root, folder)).length === 0;
    table.line(
      area,
      `has /${folder} empty, for its user alone`,
      isOwn && isEmpty,
      `${String(uid)}:${String(gid)} ${(mode & 0o777).toString(8)}`,
    );
  }

  const secrets = files
    .map(([path]) => path)
    .filter((path) => /^(till|root|home|data|backups)\//.test(path))
    .filter((path) =>
      /(^|\/)(\.npmrc|\.env|\.git|\.netrc|secret|id_\w+|password(\.txt)?|[^/]*\.(pem|key|db))$/.test(
        path,
      ),
    )
    .filter((path) => !/node_modules\/.*\.(js|json|md|ts)$/.test(path));
  table.line(area, "has no file of a secret, a store or a key", secrets.length === 0, secrets);
  const sources = ["src", "test", ".git", ".config", "tsconfig.json"].filter((name) =>
    existsSync(join(root, "till", name)),
  );
  table.line(area, "has no sources and no tests", sources.length === 0, sources);
  const { packages } = JSON.parse(readFileSync(join(checkout, "package-lock.json"), "utf8")) as {
    packages: Record<string, { dev?: boolean }>;
  };
  const development = Object.entries(packages)
    .filter(([path, { dev }]) => dev === true && existsSync(join(root, "till", path)))
    .map(([path]) => path);
  const count = files.filter(([path]) =>
    /^till\/node_modules\/(@[^/]+\/)?[^/@.]+$/.test(path),
  ).length;
  table.line(
    area,
    "has no package of development",
    development.length === 0 && count > 0,
    development.length === 0 ? `${String(count)} packages` : development,
  );
  const tools = ["python3", "make", "g++", "cc", "git"].filter((name) =>
    ["bin", "usr/bin", "usr/local/bin"].some((folder) => existsSync(join(root, folder, name))),
  );
  table.line(area, "has no compiler", tools.length === 0, tools);
}

/** Folders that are filled when a container starts. */
const filledAtStart = new Set(["dev", "proc", "sys"]);

/** Returns everything below a folder, by its path. */
function walk(root: string, inside = ""): (readonly [path: string, about: Stats])[] {
  return readdirSync(join(root, inside), { withFileTypes: true }).flatMap((entry) => {
    const path = join(inside, entry.name);
    if (filledAtStart.has(path)) return [];
    const below = entry.isDirectory() ? walk(root, path) : [];
    return [[path, lstatSync(join(root, path))] as const, ...below];
  });
}

function isWritable(about: Stats): boolean {
  if (!about.isFile() && !about.isDirectory()) return false;
  const { uid, gid, mode } = about;
  const isSticky = about.isDirectory() && (mode & 0o1000) !== 0;
  if (isSticky) return false;
  return (
    (mode & 0o002) !== 0 ||
    (uid === user && (mode & 0o200) !== 0) ||
    (gid === user && (mode & 0o020) !== 0)
  );
}
