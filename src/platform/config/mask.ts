import { parseUrl } from "../../kernel/url.ts";
import { nameOfPostgres, parsePostgresUrl } from "../database/postgres/url.ts";

const mask = "********";

/** The length, in characters, from which a path segment may be an API key. */
const keyLengthMin = 16;

/** Returns the text that replaces a secret; it does not even reveal the length. */
export function maskSecret(_secret: string): string {
  return mask;
}

/** Masks the password of a URL, its query values, and the path segments that look like API keys. */
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

/** Masks the password and the query values of PostgreSQL's URL; shows the hosts, wherever they were given. */
export function maskPostgresUrl(text: string): string {
  const { user, password } = parsePostgresUrl(text);
  const [, query = ""] = text.split("?");
  const secret = password === null ? "" : `:${mask}`;
  const credentials = user === null ? "" : `${encodeURIComponent(user)}${secret}@`;
  const names = [...new URLSearchParams(query).keys()].map(
    (name) => `${encodeURIComponent(name)}=${mask}`,
  );
  return (
    nameOfPostgres(text).replace("://", `://${credentials}`) +
    (names.length === 0 ? "" : `?${names.join("&")}`)
  );
}
