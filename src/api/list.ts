import { z } from "zod";
import { defaultPageLimit, maxPageLimit } from "../kernel/page.ts";

/** How many items a page has. A query is text, which `parsePage` reads; a client sends a number. */
export const limitParameter = z.string().optional().meta({
  type: "integer",
  minimum: 1,
  maximum: maxPageLimit,
  default: defaultPageLimit,
  description: "Items a page.",
});

/** What every list takes in its query; `parsePage` reads it, and `mapPage` presents the answer. */
export const pageParameters = {
  limit: limitParameter,
  cursor: z
    .string()
    .optional()
    .meta({ description: "The `nextCursor` of the page before, with the same filters." }),
};
