import{a,b,c}from"./chunk-E6XYWUDD.js";import"./chunk-FGLSRIR2.js";import"./chunk-IGLZ6S5R.js";import"./chunk-SQE76S5B.js";export{b as Change,c as Changes,a as whole};
