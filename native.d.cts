export * from './native.js';
