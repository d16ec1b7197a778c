import { x } from './lib.mjs';
console.log(x);
