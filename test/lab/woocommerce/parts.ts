import { execFile, execFileSync } from "node:child_process";
import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

/** The versions that a shop of the proof consists of. */
export interface Pair {
  readonly name: "newest" | "oldest";
  readonly wordpress: string;
  readonly woocommerce: string;
  readonly theme: string;
}

/** The newest and the oldest supported pair: one with a theme of blocks, one with a theme of templates. */
export const pairs: readonly Pair[] = [
  { name: "newest", wordpress: "7.1", woocommerce: "11.0.1", theme: "twentytwentyfive" },
  { name: "oldest", wordpress: "6.4", woocommerce: "8.2.0", theme: "storefront" },
];

/** The folder with the unpacked parts, or with archives of them that were fetched here before. */
const folder = process.env["PROVE_WOO_PARTS"] ?? join(tmpdir(), "till-woo-parts");

interface Part {
  /** Below the folder of parts. */
  readonly path: string;
  /** A file by which a whole part is recognized. */
  readonly mark: string;
  readonly archive: string;
  /** The only folder of the archive. */
  readonly root: string;
}

function partsOf({ wordpress, woocommerce, theme }: Pair) {
  const downloads = "https://downloads.wordpress.org";
  return {
    wordpress: {
      path: `wordpress-${wordpress}`,
      mark: "wp-settings.php",
      archive: `https://wordpress.org/wordpress-${wordpress}.zip`,
      root: "wordpress",
    },
    woocommerce: {
      path: `woocommerce-${woocommerce}`,
      mark: "vendor/autoload.php",
      archive: `${downloads}/plugin/woocommerce.${woocommerce}.zip`,
      root: "woocommerce",
    },
    theme: {
      path: `themes/${theme}`,
      mark: "style.css",
      archive: `${downloads}/theme/${theme}.zip`,
      root: theme,
    },
  } satisfies Record<string, Part>;
}

/** A part or a program is missing; the message says what to do. */
export class Missing extends Error {}

/** Unpacks a part's official archive beside the others, unless it is there. */
async function ensure({ path, mark, archive, root }: Part): Promise<void> {
  const place = join(folder, path);
  if (existsSync(join(place, mark))) return;
  const temporary = join(folder, `unpacked ${path.replaceAll("/", " ")}`);
  try {
    const answer = await fetch(archive);
    if (!answer.ok) throw new Error(`${archive} answered ${String(answer.status)}`);
    mkdirSync(temporary, { recursive: true });
    const file = join(temporary, "archive.zip");
    writeFileSync(file, Buffer.from(await answer.arrayBuffer()));
    const unpack = `$zip = new ZipArchive; exit($zip->open($argv[1]) === true && $zip->extractTo($argv[2]) ? 0 : 1);`;
    execFileSync("php", ["-r", unpack, file, temporary]);
    mkdirSync(join(place, ".."), { recursive: true });
    renameSync(join(temporary, root), place);
  } catch (cause) {
    throw new Missing(
      `${join(place, mark)} is missing, and ${archive} could not be unpacked. Set PROVE_WOO_PARTS to a folder with the unpacked parts: ${allPaths().join(", ")}.`,
      { cause },
    );
  } finally {
    rmSync(temporary, { recursive: true, force: true });
  }
}

function allPaths(): string[] {
  return pairs.flatMap((pair) => Object.values(partsOf(pair)).map(({ path }) => path));
}

/**
 * Makes sure that the parts of a pair are there.
 * @throws Missing
 */
export async function ensureParts(pair: Pair): Promise<void> {
  for (const part of Object.values(partsOf(pair))) await ensure(part);
}

/** Copies WordPress with WooCommerce and the theme to a folder that does not exist. */
export async function copyParts(pair: Pair, target: string): Promise<void> {
  const { wordpress, woocommerce, theme } = partsOf(pair);
  await copyFolder(join(folder, wordpress.path), target);
  await copyFolder(join(folder, woocommerce.path), join(target, "wp-content/plugins/woocommerce"));
  const place = join(target, "wp-content/themes", pair.theme);
  // Some come with WordPress.
  if (!existsSync(place)) await copyFolder(join(folder, theme.path), place);
}

/** Copies a folder to a path at which nothing is. Node's own way is several times slower. */
export async function copyFolder(source: string, target: string): Promise<void> {
  await promisify(execFile)("cp", ["-r", source, target]);
}
