export * from './local.js';
