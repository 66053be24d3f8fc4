import { listenToCopies, listenToKeys } from "./controls.ts";
import { previewLooks } from "./previewLooks.ts";
import { listenToRowKeys } from "./rowKeys.ts";
import { followPage } from "./followPage.ts";
import { offerWallets } from "./signByWallet.ts";
import { showCheck } from "./showCheck.ts";

// The script of the merchant's pages. Each of them works without it.

listenToKeys();
listenToRowKeys();
listenToCopies();
showCheck();
offerWallets();
previewLooks();
followPage(showCheck);
