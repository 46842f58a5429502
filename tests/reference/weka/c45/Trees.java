import java.io.FileReader;
import weka.classifiers.trees.J48;
import weka.core.Instances;
import weka.core.Utils;

/** Prints J48's tree of each ARFF file. Arguments: options of J48 in one string, repeats (the quickest build counts), files. */
public class Trees {
    public static void main(String[] arguments) throws Exception {
        for (int i = 2; i < arguments.length; i++) {
            Instances data = new Instances(new FileReader(arguments[i]));
            data.setClassIndex(data.numAttributes() - 1);
            double seconds = Double.POSITIVE_INFINITY;
            J48 tree = null;
            for (int repeat = 0; repeat < Integer.parseInt(arguments[1]); repeat++) {
                tree = new J48();
                tree.setOptions(Utils.splitOptions(arguments[0]));
                long start = System.nanoTime();
                tree.buildClassifier(data);
                seconds = Math.min(seconds, (System.nanoTime() - start) / 1e9);
            }
            String kind = tree.getUnpruned() ? "unpruned" : "pruned";
            String text = tree.toString().replaceFirst("J48 " + kind + " tree\n-+\n\n?", "");
            System.out.println("@file " + arguments[i] + "\n@seconds " + seconds + "\n" + text + "@end");
        }
    }
}
