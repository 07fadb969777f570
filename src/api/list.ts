import { z } from "zod";

/** What every list takes in its query; `parsePage` reads it, and `mapPage` presents the answer. */
export const pageParameters = { limit: z.string().optional(), cursor: z.string().optional() };
