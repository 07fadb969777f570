export { makeMeService, type MeService } from "./service.ts";
