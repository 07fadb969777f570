import { parseUrl } from "../../kernel/url.ts";

const mask = "********";

/** Segments of a path that are as long as this may be keys. */
const keyLengthMin = 16;

/** What is shown in a secret's place: not even its length. */
export function maskSecret(_secret: string): string {
  return mask;
}

/** A URL without its password, its query's values, and the parts of its path that look like keys. */
export function maskUrl(text: string): string {
  const url = parseUrl(text);
  if (url === null) return mask;
  const user =
    url.username === "" ? "" : `${url.username}${url.password === "" ? "" : `:${mask}`}@`;
  const path = url.pathname
    .split("/")
    .map((segment) => (segment.length >= keyLengthMin ? mask : segment))
    .join("/");
  const query = [...url.searchParams.keys()].map((name) => `${encodeURIComponent(name)}=${mask}`);
  const search = query.length === 0 ? "" : `?${query.join("&")}`;
  return `${url.protocol}//${user}${url.host}${path === "/" ? "" : path}${search}`;
}
