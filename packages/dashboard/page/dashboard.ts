import { listenToCopies, listenToKeys } from "./controls.ts";
import { followPage } from "./followPage.ts";
import { showCheck } from "./showCheck.ts";

// The script of the merchant's pages. Each of them works without it.

listenToKeys();
listenToCopies();
showCheck();
followPage(showCheck);
