import { configure } from "../src/configure.ts";
import { mount } from "../src/mount.ts";

// /sdk/v1.global.js: window.Tributary, for pages without modules.

const { currentScript } = document;
if (currentScript instanceof HTMLScriptElement) configure({ baseUrl: new URL("..", currentScript.src).href });
Object.assign(window, { Tributary: { configure, mount } });
