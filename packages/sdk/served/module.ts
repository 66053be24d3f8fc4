import { configure, mount } from "../src/mount.ts";

// /sdk/v1.js: the service that serves the script is the one whose checkout it opens.

configure({ baseUrl: new URL("..", import.meta.url).href });

export { configure, mount };
