import { listenToCopies, listenToKeys } from "./controls.ts";

// The script of pages that do not follow anything.

listenToKeys();
listenToCopies();
