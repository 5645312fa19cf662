import{a,b,c}from"./chunk-JXKI6XSA.js";import"./chunk-D4OKGFMH.js";import"./chunk-DKE2WAIL.js";import"./chunk-SQE76S5B.js";export{b as Change,c as Changes,a as whole};
