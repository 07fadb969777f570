import { createHash } from "node:crypto";
import { invalidField } from "../../../kernel/errors.ts";
import type { Reader, Tx } from "../../../platform/database/database.ts";
import { readImageHeader } from "./image-header.ts";
import { organizationLogos, type LogoRow, type OrganizationRow } from "../table.ts";

/** Maximum size of a logo's file, in bytes: payers load it before they see whom they pay. */
export const logoBytesMax = 64 * 1_024;
/** Least and most pixels of a logo's sides. A small file can hold an image that fills a browser's memory. */
export const logoSide = { least: 32, most: 1_024 } as const;

/** A logo's file, read from a request. */
export type Logo = Pick<LogoRow, "name" | "image">;

/**
 * Reads the image of a request, which is in Base64. Its name contains the digest of its content, so browsers can cache it
 * forever. SVG is refused, because it can contain scripts. @throws InvalidRequest
 */
export function readLogo(image: string): Logo {
  const bytes = Buffer.from(image, "base64");
  const refused = (message: string) => invalidField("/logo", "invalid_value", message);
  if (bytes.length > logoBytesMax) {
    throw refused(`must have at most ${String(logoBytesMax / 1_024)} KiB`);
  }
  const header = readImageHeader(bytes);
  if (header === null) {
    throw refused(
      "must be a PNG, JPEG or WebP file of one picture, without animation, and end with it",
    );
  }
  const { least, most } = logoSide;
  if ([header.width, header.height].some((side) => side < least || side > most)) {
    throw refused(
      `must be ${String(least)} to ${String(most)} pixels wide and high, not ${String(header.width)} by ${String(header.height)}`,
    );
  }
  const digest = createHash("sha256").update(bytes).digest("hex").slice(0, 32);
  return { name: `logo.${digest}.${header.type}`, image };
}

/** Stores a logo's file, and deletes those of the organization that are no longer shown or requested. */
export async function keepLogos(
  tx: Tx,
  { id: organizationId, logo, pendingLogo }: OrganizationRow,
  added: Logo | null,
): Promise<void> {
  if (added !== null) await tx.insertIfAbsent(organizationLogos, { ...added, organizationId });
  await tx.run(
    `DELETE FROM organization_logos WHERE organization_id = $1 AND name NOT IN ($2, $3)`,
    [organizationId, logo ?? "", pendingLogo ?? ""],
  );
}

const fileName = /^logo\.[0-9a-f]{32}\.(png|jpeg|webp)$/;

/**
 * Returns a logo's file by its name; null if no organization shows or requests it. Requested ones are served too, so that
 * a reviewer can open them in a browser. The name is not secret: it is computed from the file.
 */
export async function findLogo(
  reader: Reader,
  name: string,
): Promise<{ readonly type: string; readonly body: Buffer } | null> {
  const extension = fileName.exec(name)?.[1];
  if (extension === undefined) return null;
  const row = await reader.findOne(organizationLogos, "WHERE name = $1 LIMIT 1", [name]);
  if (row === null) return null;
  return { type: `image/${extension}`, body: Buffer.from(row.image, "base64") };
}

/** Returns the path of a logo's file below the instance's address; the pages of payers load it there. */
export function logoPath(name: string | null): string | null {
  return name === null ? null : `/pay/assets/${name}`;
}
