import{a,b,c}from"./chunk-TM6VRTOR.js";import"./chunk-PXV3YK36.js";import"./chunk-I34IACKR.js";import"./chunk-SQE76S5B.js";export{b as Change,c as Changes,a as whole};
