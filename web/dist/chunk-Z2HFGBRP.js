import{a,b,c}from"./chunk-XCMJ3LWH.js";import"./chunk-NBYAXEJ5.js";import"./chunk-P7GXQBL2.js";import"./chunk-SQE76S5B.js";export{b as Change,c as Changes,a as whole};
