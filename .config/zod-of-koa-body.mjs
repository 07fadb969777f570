// koa-body checks its options by these functions of zod, but imports the object with all of zod and the messages of all
// languages: bundled with it, a server would take 10 MB more memory, or every command would load it.
import { array, boolean, enum as oneOf, number, object, string, union } from "zod";

export const z = { array, boolean, enum: oneOf, number, object, string, union };
