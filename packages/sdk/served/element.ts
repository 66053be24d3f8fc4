// /sdk/v1.element.js: <tributary-checkout>, with the service that serves the script.
import "../src/element.ts";
