import{a,b,c}from"./chunk-FDJXK6B2.js";import"./chunk-ZRJ2EJII.js";import"./chunk-ECYOEFQS.js";import"./chunk-SQE76S5B.js";export{b as Change,c as Changes,a as whole};
