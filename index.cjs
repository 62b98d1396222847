'use strict';
// `require` of an ES module works from Node 20.19 and 22.12 on; what is required is the very
// module that `import` gives.
module.exports = require('./index.js');
