import { configure } from "../src/configure.ts";
import { mount } from "../src/mount.ts";

// /sdk/v1.global.js: window.Tributary, for pages without modules.

const { src } = document.currentScript as HTMLScriptElement;
configure({ baseUrl: new URL("..", src).href });
Object.assign(window, { Tributary: { configure, mount } });
